"""The report on a comparison, one HTML page; and what the pages of workloads and papers share with it.

Pages are put together by libraries that load slowly: what does so is loaded when a page is asked for.
"""
