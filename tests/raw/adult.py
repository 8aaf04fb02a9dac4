"""Raw files of Adult."""
from __future__ import annotations

import os

import numpy

EDUCATION = ['Preschool', '1st-4th', '5th-6th', '7th-8th', '9th', '10th', '11th', '12th',
             'HS-grad', 'Some-college', 'Assoc-voc', 'Assoc-acdm', 'Bachelors', 'Masters',
             'Prof-school', 'Doctorate']
#: The values in lines without gaps, 98 in all.
VALUES = {
    'workclass': ['Private', 'Self-emp-not-inc', 'Self-emp-inc', 'Federal-gov', 'Local-gov',
                  'State-gov', 'Without-pay'],
    'education': EDUCATION,
    'marital-status': ['Married-civ-spouse', 'Divorced', 'Never-married', 'Separated', 'Widowed',
                       'Married-spouse-absent', 'Married-AF-spouse'],
    'occupation': ['Tech-support', 'Craft-repair', 'Other-service', 'Sales', 'Exec-managerial',
                   'Prof-specialty', 'Handlers-cleaners', 'Machine-op-inspct', 'Adm-clerical',
                   'Farming-fishing', 'Transport-moving', 'Priv-house-serv', 'Protective-serv',
                   'Armed-Forces'],
    'relationship': ['Wife', 'Own-child', 'Husband', 'Not-in-family', 'Other-relative',
                     'Unmarried'],
    'race': ['White', 'Asian-Pac-Islander', 'Amer-Indian-Eskimo', 'Other', 'Black'],
    'sex': ['Female', 'Male'],
    'native-country': [
        'United-States', 'Cambodia', 'England', 'Puerto-Rico', 'Canada', 'Germany',
        'Outlying-US(Guam-USVI-etc)', 'India', 'Japan', 'Greece', 'South', 'China', 'Cuba', 'Iran',
        'Honduras', 'Philippines', 'Italy', 'Poland', 'Jamaica', 'Vietnam', 'Mexico', 'Portugal',
        'Ireland', 'France', 'Dominican-Republic', 'Laos', 'Ecuador', 'Taiwan', 'Haiti',
        'Columbia', 'Hungary', 'Guatemala', 'Nicaragua', 'Scotland', 'Thailand', 'Yugoslavia',
        'El-Salvador', 'Trinadad&Tobago', 'Peru', 'Hong', 'Holand-Netherlands']}
GAPS = ('workclass', 'occupation', 'native-country')
#: The last country is in the training file only.
RARE = VALUES['native-country'][-1]
HEADING = '|1x3 Cross validator'


def _rows(count, rng, rare):
    """Return lines as lists of texts, the last of them the target."""
    rows = []
    for number in range(count):
        chosen = {}
        for name, values in VALUES.items():
            known = values[:-1] if name == 'native-country' else values
            # Every value in turn first, so that few lines have all of them.
            chosen[name] = known[number if number < len(known) else rng.integers(len(known))]
        if rare and number == count - 1:
            chosen['native-country'] = RARE
        schooling = EDUCATION.index(chosen['education']) + 1
        age = int(rng.integers(17, 91))
        gain = int(rng.choice([0, 0, 0, 2174, 7688, 15024]))
        rows.append([str(age), chosen['workclass'], str(rng.integers(12285, 1484706)),
                     chosen['education'], str(schooling), chosen['marital-status'],
                     chosen['occupation'], chosen['relationship'], chosen['race'], chosen['sex'],
                     str(gain), str(rng.choice([0, 0, 0, 1902])), str(rng.integers(1, 100)),
                     chosen['native-country'],
                     '>50K' if gain > 7000 or schooling + age / 10 > 17 else '<=50K'])
    return rows


def _with_gaps(rows, rng):
    """Return lines, between them some with a question mark for an unknown value."""
    positions = {'workclass': 1, 'occupation': 6, 'native-country': 13}
    mixed = []
    for number, row in enumerate(rows):
        mixed.append(row)
        if number % 12 == 5:
            gap = list(row)
            gap[positions[GAPS[rng.integers(len(GAPS))]]] = '?'
            gap[1] = gap[1] if rng.integers(2) else '?'
            mixed.append(gap)
    return mixed


def write(folder, train=90, test=60):
    """Write the two files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    train, test : int, optional
        Complete lines in each file; 30162 and 15060 in truth. With 41 or more, all values are
        there but one, which only the training file has.

    Returns
    -------
    dict
        Maps ``'train'`` and ``'test'`` to the complete lines, lists of 15 texts.
    """
    rng = numpy.random.default_rng(4)
    written = {'train': _rows(train, rng, rare=True), 'test': _rows(test, rng, rare=False)}
    for split, heading, end in (('train', '', ''), ('test', HEADING + '\n', '.')):
        lines = [', '.join(row) + end for row in _with_gaps(written[split], rng)]
        # An empty line stands at the end of both.
        content = heading + '\n'.join(lines) + '\n\n'
        name = 'adult.data' if split == 'train' else 'adult.test'
        with open(os.path.join(folder, name), 'w', encoding='ascii', newline='') as stream:
            stream.write(content)
    return written
