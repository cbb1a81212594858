"""Every mechanism's channel, derived from the text of its spec. Nothing here imports a mechanism."""
