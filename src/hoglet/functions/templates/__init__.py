"""Templates of functions: each a folder with ``template.yaml`` and ``template.hog`` (or ``.ts``)."""
