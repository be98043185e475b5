/** Short word problems: someone has some things, then gets and loses more. The bare model stops reading after the first change. */
import { drawInteger, drawOne } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const START = /\b(?:has|have|had|starts? with|owns?)\s+(\d{1,9})\b/i
const GAIN = 'buys?|bought|gets?|got|finds?|found|receives?|received|picks?|picked|earns?|earned|wins?|won|adds?|added'
const LOSS = 'gives?|gave|loses?|lost|eats?|ate|sells?|sold|uses?|used|spends?|spent|drops?|dropped|breaks?|broke|throws?|threw'
const CHANGE = new RegExp(String.raw`\b(?:(${GAIN})|${LOSS})\b[^.,;?\d]*?(\d{1,9})`, 'gi')
const ASKED = /how many|how much/i

export const story: Family = {
  name: 'story',
  topic: /word problem|story|quantit/i,
  lessons: ['every-step'],
  read,
  tasks: () =>
    makeTasks('story', (seed) => {
      const who = drawOne(['Mira', 'Tomas', 'Aiko', 'Jonas', 'Leila', 'Pavel'], seed, 'who')
      const thing = drawOne(['apples', 'marbles', 'stamps', 'coins', 'books'], seed, 'thing')
      const amount = (low: number): number => drawInteger(low, low * 2 + 3, seed, String(low))
      const [start, more, less, last] = [amount(20), amount(5), amount(3), amount(2)]
      const events = `buys ${more} more, then loses ${less} and gives ${last} away`
      const prompt = `${who} has ${start} ${thing}. ${who} ${events}. How many ${thing} are left?`
      return { prompt, answer: String(start + more - less - last) }
    }),
}

function read(text: string): Problem | null {
  const start = START.exec(text)
  if (start === null || !ASKED.test(text)) return null
  const changes = [...text.slice(start.index + start[0].length).matchAll(CHANGE)].map(([, gain, amount]) =>
    gain === undefined ? -Number(amount) : Number(amount),
  )
  const [first] = changes
  if (first === undefined) return null
  const begin = Number(start[1])
  const right = changes.reduce((sum, change) => sum + change, begin)
  const halfway = changes.length > 1 ? begin + first : right - 1
  return { right: String(right), slips: halfway === right ? [] : [{ lesson: 'every-step', wrong: String(halfway) }] }
}
