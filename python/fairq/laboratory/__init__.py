"""The lab outside the browser: the page as it was built, the server that shows it, the widget of a notebook."""
