"""The lab outside the browser: the built page, its server, and the widget of a notebook."""
