/**
 * The environment of the programs that are started here: what a program needs to run at all, and to reach the network. Whatever else the
 * environment holds may be a secret, and is no business of theirs. The service's contract takes it from here.
 */
const RUNNING =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|TMP|TEMP|LD_LIBRARY_PATH|XDG_(?:CACHE|CONFIG|DATA|STATE)_HOME)$/
const NETWORK =
  /^(?:(?:HTTP|HTTPS|ALL|NO)_PROXY|(?:http|https|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|(?:REQUESTS|CURL)_CA_BUNDLE)$/

/** Where npm and pip find packages: for them alone, since an address may hold a password. A registry's token belongs into its settings file. */
export const PACKAGE_SOURCES =
  /^(?:npm_config_(?:registry|@[^:]+:registry|userconfig|globalconfig|cache|cafile|ca|proxy|https_proxy|noproxy|strict_ssl|offline|prefer_offline)|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CONFIG_FILE|CACHE_DIR|CERT|PROXY|TRUSTED_HOST))$/i

/** `also` says by name what a program needs beside that. */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  ...also: readonly RegExp[]
): Record<string, string> {
  const passed = [RUNNING, NETWORK, ...also]
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && passed.some((names) => names.test(name)) ? [[name, value]] : [],
    ),
  )
}
