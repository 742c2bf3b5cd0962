"""Function templates: folders with ``template.yaml`` and ``template.hog`` (or ``.ts``)."""
