/** Phone numbers that are written as such: with a country's prefix, in the groups of a number, or behind a word that announces one. */
import { digitsIn, startAfterNone, type Without } from './stand.ts'

/** The look at what comes next is there for speed. */
const ALONE = `(?=[+(\\d])${startAfterNone('\\p{L}\\d_.+/=-')}`
const END = '(?![\\p{L}\\d_=]|[.-]\\d)'
const SHAPES = [
  // +49 30 901820, +1 (415) 555-0100
  `${ALONE}\\+[1-9](?:[ .()/-]{0,2}\\d){6,14}${END}`,
  // (415) 555-0100, 415-555-0100
  `${ALONE}(?:\\(\\d{3}\\) ?|\\d{3}[. -])\\d{3}[. -]\\d{4}${END}`,
  // 030 901820-0, 0151/23456789
  `${ALONE}\\(?0\\d{1,5}\\)?[ /-]{1,2}\\d{2,8}(?:[ -]\\d{1,8}){0,4}${END}`,
]
const WRITTEN = new RegExp(SHAPES.join('|'), 'gu')
const ANNOUNCED =
  /(?=[tpmchfw])(?<![\p{L}\d_])((?:tele)?phone(?: (?:number|no\.?))?|tel|mobile|mobil|cell|handy|fax|whatsapp|telefon|téléphone|teléfono)([\s"':.=#(]{1,6})(\+?\d(?:[ .()/-]{0,2}\d){6,14})(?![\p{L}\d_])/giu

/** Fewer are a date or a time, more are something else. */
const DIGITS_MIN = 7
const NATIONAL_DIGITS_MIN = 9
const DIGITS_MAX = 15
const DECIMAL = /^\+\d+\.\d+$/

export const withoutPhones: Without = (text, stand) =>
  text
    .replaceAll(WRITTEN, (found) => {
      const digits = digitsIn(found)
      const least = /^\(?0/.test(found) || /^\+\d+$/.test(found) ? NATIONAL_DIGITS_MIN : DIGITS_MIN
      const isNumber = digits.length >= least && digits.length <= DIGITS_MAX && !DECIMAL.test(found)
      return isNumber ? stand.for('phone', digits) : found
    })
    .replaceAll(ANNOUNCED, (_, word: string, between: string, number: string) => word + between + stand.for('phone', digitsIn(number)))
