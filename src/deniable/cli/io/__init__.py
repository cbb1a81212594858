"""Input and output: values, reports, summaries, releases and answers."""
