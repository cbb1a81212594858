"""Files in and out: values, reports, summaries, releases, answers."""
