// Lets the search run when a page is opened from disk, where browsers refuse to start a worker:
// the worker's script runs in a hidden frame of the same page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inner = frame.contentWindow
      inner.document.open() // some browsers replace an untouched frame's document later
      inner.document.write("<!doctype html><title>search</title><body></body>")
      inner.document.close()
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inner.document.createElement("script")
      script.src = new URL(url, document.baseURI)
      this.ready = new Promise(resolve => { script.onload = () => resolve(inner) })
      this.terminate = () => frame.remove()
      inner.document.body.appendChild(script)
    }

    postMessage(data) {
      this.ready.then(inner => inner.dispatchEvent(new inner.MessageEvent("message", { data })))
    }
  }
}
