/** Lots by a text, so that what was drawn can be drawn again. */
import { hash } from 'node:crypto'

const HEX_DIGITS = 12
const LOTS = 16 ** HEX_DIGITS

/** A whole number, the same for the same text. */
export const lotOf = (text: string): number => Number.parseInt(hash('sha256', text).slice(0, HEX_DIGITS), 16)

/** A number from 0 up to 1, the same for the same text. */
export const chanceOf = (text: string): number => lotOf(text) / LOTS
