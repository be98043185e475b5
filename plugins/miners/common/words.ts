/** Texts of others as people can read them. */

/** Without control characters and marks that people do not see. */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (sign) => (sign === '\n' ? sign : ' '))
    .replaceAll('\ufffd', ' ')
    .trim()
