"""Trains a network on generated digits, classifies a few, and looks at what it confuses.

    pip install ./python && python3 examples/python/digits.py
"""
import heddle

result = heddle.train('cnn', 'synth:count=2000', epochs=2, progress=True)
print(result)

network = heddle.load(result.checkpoint)
digits = heddle.Dataset.open('synth:count=2000', 'test')
for image, label in zip(digits.images[:5], digits.labels):
    probabilities = network.predict(image)
    print(f'a {label} is taken for a {network.classes[probabilities.argmax()]} ({probabilities.max():.1%})')

evaluation = network.evaluate()
print(evaluation)
wrong = evaluation.confusion.copy()
wrong[range(10), range(10)] = 0
truth, taken = divmod(int(wrong.argmax()), 10)
print(f'most often, a {truth} is taken for a {taken}: {wrong.max()} times')
