"""From counts and a channel to answers. Nothing here knows a mechanism."""
