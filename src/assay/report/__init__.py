"""What a reader sees: one page, a table in the terminal, a file for machines, a folder.

Renders a `assay.result.Result` and computes nothing. Import what you need from the module that
holds it: `assay.report.html`, `.terminal`, `.json`, `.folder`, `.figures`.
"""
