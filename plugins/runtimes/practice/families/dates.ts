/** Date arithmetic. The bare model gives every month thirty days. */
import { drawInteger } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const DAY_MS = 86_400_000
const DAYS_MAX = 100_000
const DATE = String.raw`\b(\d{4})-(\d{2})-(\d{2})`
const LATER = new RegExp(String.raw`\b(\d{1,6})\s+days?\s+(after|before|later than|from|earlier than)\s+${DATE}`, 'i')
const PLUS = new RegExp(String.raw`${DATE}\s*(\+|-|plus|minus)\s*(\d{1,6})\s+days?`, 'i')

export const dates: Family = {
  name: 'dates',
  topic: /\bdates?\b|calendar|\bdays?\b/i,
  lessons: ['calendar'],
  read,
  tasks: () =>
    makeTasks('dates', (seed) => {
      const [year, month, day] = [drawInteger(2019, 2031, seed, 'year'), drawInteger(1, 12, seed, 'month'), drawInteger(1, 28, seed, 'day')]
      const days = drawInteger(31, 95, seed, 'days')
      const date = `${year}-${pad(month)}-${pad(day)}`
      return { prompt: `Which date is ${days} days after ${date}? Use the form YYYY-MM-DD.`, answer: byCalendar(year, month, day, days) }
    }),
}

function read(text: string): Problem | null {
  const later = LATER.exec(text)
  const plus = PLUS.exec(text)
  if (later !== null) {
    const [, days, direction = '', year, month, day] = later
    return problemOf(year, month, day, /before|earlier/i.test(direction) ? -Number(days) : Number(days))
  }
  if (plus === null) return null
  const [, year, month, day, sign = '', days] = plus
  return problemOf(year, month, day, /-|minus/i.test(sign) ? -Number(days) : Number(days))
}

function problemOf(yearText: string | undefined, monthText: string | undefined, dayText: string | undefined, days: number): Problem | null {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)]
  if (month < 1 || month > 12 || day < 1 || day > 31 || Math.abs(days) > DAYS_MAX) return null
  const right = byCalendar(year, month, day, days)
  const guess = byThirties(year, month, day, days)
  return { right, slips: [{ lesson: 'calendar', wrong: guess === right ? byCalendar(year, month, day, days + 1) : guess }] }
}

const byCalendar = (year: number, month: number, day: number, days: number): string =>
  new Date(Date.UTC(year, month - 1, day) + days * DAY_MS).toISOString().slice(0, 10)

function byThirties(year: number, month: number, day: number, days: number): string {
  const total = year * 360 + (month - 1) * 30 + (day - 1) + days
  return `${Math.floor(total / 360)}-${pad((Math.floor(total / 30) % 12) + 1)}-${pad((total % 30) + 1)}`
}

const pad = (number: number): string => String(number).padStart(2, '0')
