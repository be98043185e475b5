/** A list of things of which a few are shown and more when asked for, so that ten thousand of them freeze nothing. */
import { whole } from '../../../src/presentation/index.ts'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

interface BoundedProps<T> {
  readonly items: readonly T[]
  readonly step: number
  /** What they are, for the button: '12 more turns'. */
  readonly noun: string
  /** The newest stand last, and are what one wants to see. */
  readonly fromEnd?: boolean
  readonly children: (item: T, index: number) => ComponentChildren
}

export function Bounded<T>({ items, step, noun, fromEnd = false, children }: BoundedProps<T>) {
  const [count, setCount] = useState(step)
  const first = fromEnd ? Math.max(0, items.length - count) : 0
  const shown = items.slice(first, first + count)
  const left = items.length - shown.length
  const more = left > 0 && (
    <Button onClick={() => setCount(count + step)}>{`${whole(left)} ${fromEnd ? 'earlier' : 'more'} ${noun}`}</Button>
  )
  return (
    <>
      {fromEnd && more}
      {shown.map((item, at) => children(item, first + at))}
      {!fromEnd && more}
    </>
  )
}
