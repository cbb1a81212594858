"""Laplace and Staircase noise: conversion of a release to it, and answers from counts with it."""
