"""Every figure of the transformers: those of the families, one after the other.

Run ``python tests/benchmarks/bench_transformers.py``; prints ``name: figure`` lines.
"""
import bench_batching
import bench_images
import bench_scaling


def main():
    """Print the figures."""
    for family in (bench_batching, bench_scaling, bench_images):
        family.main()


if __name__ == '__main__':
    main()
