"""What the converters of ImageNet's two challenges, of 2010 and of 2012, have in common."""
