/**
 * Postal addresses in the forms that a program can tell from prose: a number and a street by its ending, in English, German, French, Spanish
 * and Italian, with what follows of house, town and code. Streets without such a word, and towns alone, stay.
 */
import { startAfterNone, type Without } from './stand.ts'

/** The look at what comes next is there for speed. */
const START = `(?=[\\p{Lu}\\d])${startAfterNone('\\p{L}\\d_')}`
/** Without what may stand between two of them: a text can be read as names in one way only. */
const NAME = "\\p{Lu}[\\p{L}\\d'’]{0,30}\\.?"
const TOWN = "\\p{Lu}[\\p{L}'’]{1,30}(?![\\p{L}\\d])"
const NUMBER = '\\d{1,5}(?:[ -]?[A-Za-z])?'
const ENGLISH =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Crescent|Close|Gardens|Grove|Parkway|Pkwy|Highway|Hwy|Mews'
const HOUSE = '(?:,? (?:Apt|Apartment|Flat|Suite|Unit|Floor|No)\\.? ?#?[A-Za-z0-9-]{1,6})?'
const US_TOWN = `(?:,\\s{1,2}${TOWN}(?: ${TOWN}){0,3},? [A-Z]{2}(?![\\p{L}\\d])(?: \\d{5}(?:-\\d{4})?)?)?`
const UK_TOWN = `(?:,\\s{1,2}${TOWN}(?: ${TOWN}){0,3})?(?:,? [A-Z]{1,2}\\d[A-Z\\d]? \\d[A-Z]{2})?`
const POSTAL_TOWN = `(?:,?\\s{1,2}\\d{4,5} ${TOWN}(?: ${TOWN}){0,3})?`

const SHAPES = [
  `${START}${NUMBER}(?: ${NAME}){1,4} (?:${ENGLISH})(?![\\p{L}\\d])\\.?${HOUSE}(?:${US_TOWN})(?:${UK_TOWN})`,
  `${START}${NAME}(?:[ -]${NAME}){0,3}(?:stra(?:ß|ss)e|str\\.|weg|platz|allee|gasse|damm|ufer|ring)\\s{1,2}${NUMBER}(?![\\p{L}\\d])${POSTAL_TOWN}`,
  `${START}(?:${NAME}[ -]){1,4}(?:Straße|Strasse|Str\\.|Weg|Platz|Allee|Gasse|Damm|Ufer|Ring)\\s{1,2}${NUMBER}(?![\\p{L}\\d])${POSTAL_TOWN}`,
  `${START}\\d{1,4}(?: (?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|allée|impasse|quai)(?: (?:de|du|des|la|le|les|l'|d'|et)){0,3}(?: ?${NAME}){1,4}${POSTAL_TOWN}`,
  `${START}(?:Calle|Avenida|Plaza|Paseo|Via|Viale|Piazza|Corso)(?: (?:de|del|della|di|la|las|los|el)){0,2}(?: ${NAME}){1,4},? ${NUMBER}(?![\\p{L}\\d])${POSTAL_TOWN}`,
]
const ADDRESS = new RegExp(SHAPES.join('|'), 'gu')

export const withoutAddresses: Without = (text, stand) =>
  text.replaceAll(ADDRESS, (found) => stand.for('address', found.toLowerCase().replaceAll(/[\s,.]+/g, ' ')))
