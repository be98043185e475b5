/** The choices of a list, each shown by the word that it stands for. */
export const Options = ({ of }: { readonly of: readonly string[] }) =>
  of.map((each) => (
    <option key={each} value={each}>
      {each}
    </option>
  ))
