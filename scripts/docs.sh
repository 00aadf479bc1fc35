#!/bin/sh
# Builds the site from docs/ into python/fairq/manual/bundle/, which `fairq docs` and a wheel use.
# `sh scripts/docs.sh PYTHON`. Exit status 2 and a line on standard error if a package is missing.
set -eu
cd "$(dirname "$0")/.."
python=$1
bundle=python/fairq/manual/bundle
"$python" -c 'import sphinx, myst_nb, pydata_sphinx_theme, sphinx_design, sphinx_copybutton' 2>/dev/null || {
    echo "fairq: what builds the site is missing. Install it with: make setup" >&2
    exit 2
}
mkdir -p target/docs
# figures of before have other names
rm -rf target/docs/html
# all is read anew, or a page that did not change would keep its warning to itself
"$python" -m sphinx -q -E -W --keep-going -j auto -b html -d target/docs/read docs target/docs/html
# what no page needs to be read
rm -rf "$bundle"
mkdir -p "$bundle"
cp -R target/docs/html/. "$bundle"
find "$bundle" -name '*.map' -delete
find "$bundle" -name '*.LICENSE.txt' -size +200k -delete
rm -rf "$bundle/_static/webpack-macros.html" "$bundle/.buildinfo" "$bundle/.doctrees" "$bundle/jupyter_execute" "$bundle/_sources" "$bundle/objects.inv"
