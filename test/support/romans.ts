/** Tasks that the mock model fails until it has a rule: Roman numerals in subtractive notation. */

/** The model fails all of them without the rule and none with it, so that tests are deterministic. */
const GATE = { 4: 'IV', 14: 'XIV', 19: 'XIX', 40: 'XL', 42: 'XLII', 43: 'XLIII', 46: 'XLVI', 48: 'XLVIII' }
const MORE = { 49: 'XLIX', 54: 'LIV', 59: 'LIX', 64: 'LXIV', 69: 'LXIX', 74: 'LXXIV', 79: 'LXXIX', 84: 'LXXXIV' }

export const romanPrompt = (number: string): string => `Write ${number} as a Roman numeral.`

/** The tasks of the gate. */
export const ROMAN_TASKS = Object.entries({ ...GATE, ...MORE }).map(([number, answer]) => ({
  name: `roman-${number}`,
  prompt: romanPrompt(number),
  answer,
}))

/** Questions of people, none of them a task of the gate. */
export const ROMANS_ASKED: Readonly<Record<string, string>> = {
  1400: 'MCD',
  1559: 'MDLIX',
  1714: 'MDCCXIV',
  1884: 'MDCCCLXXXIV',
  2039: 'MMXXXIX',
  2191: 'MMCXCI',
}

/** The format is not what is learnt here. */
export const ROMAN_RULE = { id: 'format', name: 'rules', config: { text: 'State the final answer alone on the last line.' } }
/** The rule that fixes it. */
export const ROMAN_LESSON = 'In Roman numerals put the smaller numeral before the larger for four and nine.'

export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? ''
