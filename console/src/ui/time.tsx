/** Moments: how long ago, kept up to date, or by the clock; the title is the exact one. */
import { useEffect, useState } from 'preact/hooks'
import { ago } from '../../../src/presentation/index.ts'

const TICK_SECONDS = 5

export function Ago({ at }: { readonly at: number }) {
  const [now, setNow] = useState(nowSeconds)
  useEffect(() => {
    const timer = setInterval(() => setNow(nowSeconds()), TICK_SECONDS * 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={isoOf(at)} title={isoOf(at)} class="nowrap">
      {ago(at, now)}
    </time>
  )
}

export function Clock({ at }: { readonly at: number }) {
  return (
    <time dateTime={isoOf(at)} title={isoOf(at)} class="number nowrap">
      {clockOf(at, nowSeconds())}
    </time>
  )
}

const nowSeconds = (): number => Date.now() / 1000

/** With its day once that is another, in as much room as a time needs. What is no moment at all is said to be none. */
export function clockOf(at: number, now: number): string {
  const [moment, today] = [new Date(at * 1000), new Date(now * 1000)]
  if (Number.isNaN(moment.getTime())) return 'no time'
  if (moment.toDateString() === today.toDateString()) return moment.toLocaleTimeString('en-GB')
  if (moment.getFullYear() !== today.getFullYear())
    return moment.toLocaleDateString('en-GB', { year: 'numeric', month: 'short', day: 'numeric' })
  return moment.toLocaleString('en-GB', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }).replace(',', '')
}

export const isoOf = (at: number): string => {
  const moment = new Date(at * 1000)
  return Number.isNaN(moment.getTime()) ? '' : moment.toISOString()
}
