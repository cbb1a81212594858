"""What devices and collectors say to each other: frames of bytes, their JSON form, keys, buckets of time, forms.

It stands above the mechanisms, whose payloads it carries, and below both `client` and `collector`.
"""
