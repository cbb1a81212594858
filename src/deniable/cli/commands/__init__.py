"""The commands: one file each, named as typed. They import what is heavy when they run."""
