/** Tasks at which the practice model fails until it is told how: Roman numerals that need a smaller sign before a larger one. */

const GATE = { 4: 'IV', 9: 'IX', 14: 'XIV', 19: 'XIX', 24: 'XXIV', 29: 'XXIX', 40: 'XL', 44: 'XLIV' }
const MORE = { 49: 'XLIX', 90: 'XC', 94: 'XCIV', 99: 'XCIX', 400: 'CD', 490: 'CDXC', 900: 'CM', 1994: 'MCMXCIV' }

export const romanPrompt = (number: string): string => `Write ${number} as a Roman numeral.`

/** What candidates are measured by. */
export const ROMAN_TASKS = Object.entries({ ...GATE, ...MORE }).map(([number, answer]) => ({
  name: `roman-${number}`,
  prompt: romanPrompt(number),
  answer,
}))

/** What a person asks: none of them is a task of the gate. */
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
/** What would teach it. */
export const ROMAN_LESSON = 'In Roman numerals put the smaller numeral before the larger for four and nine.'

export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? ''
