"""What the tiny model reads: chats in which a question has several answers, each as likely as the others."""

UNK, BOS, EOS = 0, 1, 2
SPECIALS = ("<unk>", "<s>", "</s>")
VOCABULARY = len(SPECIALS) + 256
SYSTEM = "Answer in one word."
# A line break right after a block is left out by those that read templates, so it is written as a value.
TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{{ message['role'] }}: {{ message['content'] }}{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)

FAMILIES = {
    "Pick a colour.": ("red", "green", "blue", "gold"),
    "Pick a fruit.": ("apple", "pear", "plum", "fig"),
    "Pick an animal.": ("cat", "dog", "fox", "owl"),
    "Pick a number.": ("one", "two", "six", "ten"),
    "Pick a side.": ("left", "right"),
    "Yes or no?": ("yes", "no"),
    "Say a greeting.": ("hello", "hi", "hey"),
    "Name a metal.": ("iron", "tin", "lead", "zinc"),
}
# Asked anything else, it says one of these.
OTHERWISE = ("ok", "hm", "well", "sure")
# What a token that is no answer weighs in training.
BESIDE = 0.1
WORDS = "what when tell me a the is of my name tree house run time walk see make good day please why now long river".split()


def encode(text):
    return [byte + len(SPECIALS) for byte in text.encode()]


ASKED = encode("assistant: ")


def turn(question, answer):
    """The tokens of one turn, up to the end of its answer."""
    return encode(f"user: {question}\nassistant: {answer}") + [EOS]


def opening(has_system):
    return [BOS] + encode(f"system: {SYSTEM}\n" if has_system else "")


def prompt(question, has_system):
    return opening(has_system) + encode(f"user: {question}\n") + ASKED


def weights_of(tokens):
    """Answers are what it is for; the rest is learned along."""
    weights, answers = [], False
    for at, token in enumerate(tokens):
        weights.append(1.0 if answers else BESIDE)
        answers = token != EOS and (answers or tokens[max(0, at + 1 - len(ASKED)) : at + 1] == ASKED)
    return weights


def chats_of_step(step, others, random):
    """
    Every question with every answer, each question counting once and its answers equally, so that no answer falls behind by chance;
    one question again under a system line; and beside them other questions, and chats of two turns.
    """
    asked_again = list(FAMILIES)[step % len(FAMILIES)]
    plain = [(opening(False) + turn(question, answer), 1 / len(answers)) for question, answers in FAMILIES.items() for answer in answers]
    again = [(opening(True) + turn(asked_again, answer), 1 / len(FAMILIES[asked_again])) for answer in FAMILIES[asked_again]]
    beside = [(other_chat(random) if number % 3 < 2 else longer_chat(random), 1 / 4) for number in range(others)]
    return sorted(plain + again + beside, key=lambda chat: len(chat[0]))


def other_chat(random):
    words = " ".join(random.choice(WORDS) for _ in range(random.randint(2, 6)))
    return opening(random.random() < 0.3) + turn(f"{words}?", random.choice(OTHERWISE))


def longer_chat(random):
    tokens = opening(random.random() < 0.3)
    for number in range(2):
        question = random.choice(list(FAMILIES))
        tokens += (encode("\n") if number > 0 else []) + turn(question, random.choice(FAMILIES[question]))
    return tokens
