/** Integer arithmetic with several operators. The bare model works from left to right. */
import { drawInteger, drawOne } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const EXPRESSION = /(?<!\d)-?\d{1,9}(?:\s{0,4}[-+*/×÷x]\s{0,4}\d{1,9})+(?!\d)/
const ASKED = /\b(?:calculate|compute|evaluate|what is|what's|how much is|work out|solve)\b|=\s*\?/i
const TERMS_MAX = 40

export const arithmetic: Family = {
  name: 'arithmetic',
  topic: /arithmetic|calculat|math|operator|precedence/i,
  lessons: ['precedence', 'use-tools'],
  read,
  tasks: () =>
    makeTasks('arithmetic', (seed) => {
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => drawInteger(2, 19, seed, name))
      const expression = drawOne([`${a} + ${b} * ${c} - ${d}`, `${a} * ${b} + ${c} * ${d}`, `${a} - ${b} * ${c} + ${d}`], seed, 'shape')
      return { prompt: `What is ${expression}?`, answer: String(inOrder(termsOf(expression))) }
    }),
}

type Term = number | '+' | '-' | '*' | '/'

function read(text: string): Problem | null {
  const found = EXPRESSION.exec(text)?.[0]
  if (found === undefined || !ASKED.test(text)) return null
  const terms = termsOf(found)
  if (terms.length > TERMS_MAX) return null
  const right = String(inOrder(terms))
  const wrong = String(leftToRight(terms))
  // Where the order makes no difference, a weak model slips by one instead.
  const slip = wrong === right ? String(inOrder(terms) + 1) : wrong
  return { right, slips: [{ lesson: 'precedence', wrong: slip }], expression: terms.join(' ') }
}

function termsOf(expression: string): readonly Term[] {
  const signs: Readonly<Record<string, Term>> = { '×': '*', x: '*', '÷': '/', '+': '+', '-': '-', '*': '*', '/': '/' }
  return (expression.match(/(?<![\d\s])-\d+|^-\d+|\d+|[-+*/×÷x]/g) ?? []).map((term) => signs[term] ?? Number(term))
}

function inOrder(terms: readonly Term[]): number {
  const sums: Term[] = []
  for (let at = 0; at < terms.length; at += 1) {
    const term = terms[at]
    if (term === '*' || term === '/') {
      sums.push(apply(Number(sums.pop()), term, Number(terms[at + 1])))
      at += 1
    } else if (term !== undefined) sums.push(term)
  }
  return leftToRight(sums)
}

function leftToRight(terms: readonly Term[]): number {
  let value = Number(terms[0])
  for (let at = 1; at + 1 < terms.length; at += 2) value = apply(value, terms[at], Number(terms[at + 1]))
  return value
}

/** Division rounds toward zero, as shells and integer calculators do; by zero it answers zero rather than break the model. */
function apply(left: number, sign: Term | undefined, right: number): number {
  if (sign === '+') return left + right
  if (sign === '-') return left - right
  if (sign === '*') return left * right
  return right === 0 ? 0 : Math.trunc(left / right)
}
