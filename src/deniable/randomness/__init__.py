"""Exact random choices from a keystream of 64-bit words.

The conversion of words to choices is part of a mechanism's version, so that another language can repeat it
byte for byte (docs/randomness.md):

- Words come from AES-256-CTR (keystream.py). Report i of a call owns the words i*stride .. (i+1)*stride - 1
  of stream 0, regardless of its value and coins.
- A coin is `word < threshold`. A uniform integer is the high half of `word * bound`, rejected when the
  low half is below `2^64 mod bound` (choices.py).
- A rejected word is replaced by the next word of the report's own overflow stream, stream 1 + i, so that no
  other report is affected.
"""
