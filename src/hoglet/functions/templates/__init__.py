"""Templates of functions: folders with ``template.yaml`` and ``template.hog`` (or ``.ts``)."""
