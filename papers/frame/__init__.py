"""The framework of all papers: experiments, their results, verdicts, pictures and the report."""
