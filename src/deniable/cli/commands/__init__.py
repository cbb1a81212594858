"""The commands: one file each, named as typed, and the sections in which `deniable --help` lists them.

Each summary here is the first line of the command's own help, so that the list can be printed without loading a
single command. A command in turn imports whatever is heavy when it runs.
"""

SECTIONS = {
    "Collect reports from people": {
        "spec": "Make, show and check specs, which client and server share.",
        "privatize": "Turn values into reports, one per person.",
        "summarize": "Count reports into one summary, or one for each group.",
        "estimate": "Estimate frequencies, with standard errors and intervals.",
        "decode": "Find which candidate strings are present, and how frequent.",
        "heavy-hitters": "Find frequent strings without a list of candidates.",
    },
    "Answer a collector": {
        "device": "Answer a collector's question once, and send the answer.",
    },
    "Run a collector": {
        "serve": "Take reports over HTTP, and answer with error bars.",
        "count-spool": "Count reports from files, each once, for a collector.",
        "load": "Load a local collector, and judge what became of the reports.",
    },
    "Plan a collection": {
        "plan": "Choose a mechanism, and find the users, epsilon or margin.",
        "compare": "Compare mechanisms: error, report size, time and attack rate.",
        "users-needed": "Print how many users a question needs.",
        "mechanisms": "List the mechanisms that a spec can name.",
    },
    "Prove and attack": {
        "audit": "Find what epsilon is really spent, and prove it by a witness.",
        "attack": "Say what one report gives away, and what liars gain.",
        "amplify": "Say what shuffling the reports adds to privacy.",
    },
    "Publish counts and ask questions about them": {
        "release": "Publish counts once, with exact discrete Laplace noise.",
        "ask": "Answer a question about noisy counts, without bias.",
    },
    "See it work": {
        "demo": "Ask a million simulated users, and compare with the truth.",
        "simulate": "Write files of simulated reports, for load tests and demos.",
    },
    "Install": {
        "warm-up": "Compile all loops once and cache the result.",
    },
}
