/** The fields that narrow the traffic. Each is part of the address. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { SEARCH_FILTERS, useFilters, type SearchFilter } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { PERIODS, STATUSES } from './filters.ts'

const NOTHING = Object.fromEntries(SEARCH_FILTERS.map((name) => [name, '']))

export function TrafficFilters() {
  const { values, choose } = useFilters(SEARCH_FILTERS)
  const given = SEARCH_FILTERS.filter((name) => name !== 'text' && values[name] !== '').length
  const isNarrowed = given > 0 || values.text !== ''
  const props = (name: SearchFilter) => ({ value: values[name], onChange: (value: string) => choose({ [name]: value.trim() }) })
  return (
    <details class="fold traffic-filters" open={given > 0}>
      <summary>{given === 0 ? 'Filters' : `Filters, ${given} set`}</summary>
      <div class="traffic-fields">
        <Field label="Model" {...props('model')} />
        <Field label="Tag" hint="user:alice" {...props('tag')} />
        <Field label="Least score" kind="decimal" {...props('least')} />
        <Field label="Highest score" kind="decimal" {...props('highest')} />
        <Choice label="Stored" {...props('since')} all="any time" options={PERIODS.map(([value, words]) => [value, words])} />
        <Choice label="Answer" {...props('status')} all="whole or not" options={STATUSES} />
        <Field label="Release" hint="its id" {...props('release')} />
        {isNarrowed && <Button onClick={() => choose(NOTHING)}>Clear all</Button>}
      </div>
    </details>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function Labelled({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  )
}

function Field({ label, hint, kind, value, onChange }: FieldProps & { readonly hint?: string; readonly kind?: 'decimal' }) {
  // The list is drawn anew while one types.
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <Labelled label={label}>
      <input
        value={typed ?? value}
        placeholder={hint}
        inputMode={kind}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
        onChange={(event) => {
          setTyped(null)
          onChange(event.currentTarget.value)
        }}
        spellcheck={false}
        autocomplete="off"
      />
    </Labelled>
  )
}

interface ChoiceProps extends FieldProps {
  readonly all: string
  readonly options: readonly (readonly [value: string, words: string])[]
}

function Choice({ label, value, onChange, all, options }: ChoiceProps) {
  const chosen = options.some(([each]) => each === value) ? value : ''
  return (
    <Labelled label={label}>
      <select value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{all}</option>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  )
}
