"""Transformers of images: decoding, cropping, resizing, turning."""
from fuel.transformers._cropping import CenterCrop, FixedCrop, RandomFixedSizeCrop
from fuel.transformers._encoded import ImagesFromBytes, RandomResizedCropFromBytes
from fuel.transformers._geometry import Random2DRotation, RandomHorizontalFlip
from fuel.transformers._resizing import MinimumImageDimensions, RandomResizedCrop, Resize

__all__ = ['CenterCrop', 'FixedCrop', 'ImagesFromBytes', 'MinimumImageDimensions',
           'Random2DRotation', 'RandomFixedSizeCrop', 'RandomHorizontalFlip', 'RandomResizedCrop',
           'RandomResizedCropFromBytes', 'Resize']
