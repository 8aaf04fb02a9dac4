"""Train softmax regression on Iris, stop in the middle of an epoch, and go on exactly.

    python iris_training.py --weights straight.npz
    python iris_training.py --stop-at 30 4 checkpoint.pickle
    python iris_training.py --resume checkpoint.pickle --weights resumed.npz

The first command trains without a break. The second stops before step 4 of epoch 30 and saves the
weights together with the pair (stream, epoch iterator). The third takes it up from there, in a
process of its own, and ends with the same weights as the first.
"""
import argparse
import pickle

import numpy

from fuel.datasets import Iris
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import Cast, ScaleAndShift

EPOCHS = 60
RATE = 0.5


def make_stream(which_set, scheme_class, batch_size):
    """Return batches of standardised features, and targets."""
    dataset = Iris((which_set,))
    train_features, = Iris(('train',), sources=('features',)).get_data(request=slice(None))
    scale = 1 / train_features.std(axis=0)
    shift = -scale * train_features.mean(axis=0)
    stream = DataStream(dataset, iteration_scheme=scheme_class(dataset.num_examples, batch_size))
    stream = Cast(stream, 'float64', which_sources=('features',))
    return ScaleAndShift(stream, scale, shift, which_sources=('features',))


def probabilities(features, weights, bias):
    """Return the probability of each class, for each example."""
    scores = features @ weights + bias
    scores = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def learn(features, targets, weights, bias):
    """Take one step down the gradient of the cross-entropy, in place."""
    error = probabilities(features, weights, bias) - numpy.eye(3)[targets[:, 0]]
    weights -= RATE * features.T @ error / len(features)
    bias -= RATE * error.mean(axis=0)


def accuracy(weights, bias):
    """Return the share of validation examples that are classified rightly."""
    right = total = 0
    for features, targets in make_stream('valid', SequentialScheme, 20).get_epoch_iterator():
        right += (probabilities(features, weights, bias).argmax(axis=1) == targets[:, 0]).sum()
        total += len(targets)
    return right / total


def main():
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--weights', metavar='FILE', help='save the weights here at the end')
    parser.add_argument('--resume', metavar='FILE', help='go on from this checkpoint')
    parser.add_argument('--stop-at', nargs=3, metavar=('EPOCH', 'STEP', 'FILE'),
                        help='stop before this step and save a checkpoint')
    arguments = parser.parse_args()
    stop = arguments.stop_at and (int(arguments.stop_at[0]), int(arguments.stop_at[1]))

    if arguments.resume:
        with open(arguments.resume, 'rb') as file:
            stream, iterator, weights, bias = pickle.load(file)
        print(f'Resumed in epoch {iterator.epoch}, before step {iterator.step}.')
    else:
        stream = make_stream('train', ShuffledScheme, 10)
        iterator = stream.get_epoch_iterator()
        weights, bias = numpy.zeros((4, 3)), numpy.zeros(3)

    while True:
        while stop != (iterator.epoch, iterator.step):
            try:
                features, targets = next(iterator)
            except StopIteration:
                break
            learn(features, targets, weights, bias)
        else:
            with open(arguments.stop_at[2], 'wb') as file:
                pickle.dump((stream, iterator, weights, bias), file)
            print(f'Stopped in epoch {iterator.epoch}, before step {iterator.step}.')
            return
        if iterator.epoch == EPOCHS - 1:
            break
        iterator = stream.get_epoch_iterator()

    reached = accuracy(weights, bias)
    print(f'Accuracy on the validation set after {EPOCHS} epochs: {reached:.1%}')
    if arguments.weights:
        numpy.savez(arguments.weights, weights=weights, bias=bias, accuracy=reached)


if __name__ == '__main__':
    main()
