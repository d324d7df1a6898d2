"""A string kernel tells languages apart by short words.

The kernel counts the pairs and triples of letters that two words share. Its matrix, with the words
sorted by language, has bright blocks on the diagonal.
"""

import matplotlib.pyplot as plt

from mercer import SVC
from mercer.kernels import BlendedSpectrum, normalize
from mercer.plots import gram

WORDS = {
    "Finnish": ("talo", "kissa", "koira", "vesi", "kala", "metsä", "lumi", "järvi", "sauna"),
    "Italian": ("casa", "gatto", "cane", "acqua", "pesce", "bosco", "neve", "lago", "bagno"),
    "Dutch": ("huis", "poes", "hond", "water", "vijver", "bosje", "sneeuw", "strand", "bad"),
}
words = [word for group in WORDS.values() for word in group]
language = [name for name, group in WORDS.items() for _ in group]
kernel = normalize(BlendedSpectrum(3))
model = SVC(C=10, kernel=kernel).fit(words, language)
for word in ("kissan", "gattino", "honden"):
    print(f"{word:8} {model.predict([word])[0]}")
ax = gram(kernel, words, language)
ax.set_title("words that share letters, by language")
plt.show()
