# A callable in Python, written without async.
#
#   riverrun call average -d '[1, 2, 3, 4]'

config = {"run_mode": "call"}


def handler(numbers):
    print("averaging", len(numbers), "numbers")
    return sum(numbers) / len(numbers)
