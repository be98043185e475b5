/** One of several, each with what it means. */
export interface ChoicesProps<Name extends string> {
  readonly legend: string
  /** Of the form: each group of choices has its own. */
  readonly group: string
  readonly all: readonly (readonly [name: Name, meaning: string])[]
  readonly chosen: Name
  readonly choose: (name: Name) => void
}

export function Choices<Name extends string>({ legend, group, all, chosen, choose }: ChoicesProps<Name>) {
  return (
    <fieldset class="choices">
      <legend class="hidden-visually">{legend}</legend>
      {all.map(([name, meaning]) => (
        <label key={name}>
          <input type="radio" name={group} checked={chosen === name} onChange={() => choose(name)} />
          <span>
            <b>{name}</b> <span class="muted">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
