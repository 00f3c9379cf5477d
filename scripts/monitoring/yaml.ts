type Yaml = string | number | readonly Yaml[] | { readonly [key: string]: Yaml }

/** A value as YAML in block style; texts are quoted as in JSON, which YAML understands. */
export function toYaml(value: Yaml, indent = ''): string {
  if (typeof value !== 'object') return `${JSON.stringify(value)}\n`
  const isList = Array.isArray(value)
  const deeper = `${indent}  `
  const parts: readonly (readonly [string, Yaml])[] = isList
    ? value.map((item: Yaml) => ['-', item] as const)
    : Object.entries(value).map(([key, item]) => [`${key}:`, item] as const)
  return parts
    .map(([lead, item]) => {
      if (typeof item !== 'object') return `${indent}${lead} ${JSON.stringify(item)}\n`
      const inner = toYaml(item, deeper)
      // An entry of a list begins next to its dash.
      return isList ? `${indent}- ${inner.trimStart()}` : `${indent}${lead}\n${inner}`
    })
    .join('')
}
