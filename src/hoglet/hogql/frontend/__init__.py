"""HogQL text to bound trees: preprocess, bind, print."""
