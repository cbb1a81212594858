"""What all papers share: experiments, their results, verdicts, pictures and the report."""
