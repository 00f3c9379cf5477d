import { copy } from './copy.js'

type JsonProps = { readonly value: unknown; readonly path?: string; readonly depth?: number }

/** Levels that are open at first. */
const OPEN = 2

/** JSON to fold; a click on a value copies it. */
export function Json({ value, path = '', depth = 0 }: JsonProps) {
  if (value === null || typeof value !== 'object') return <Leaf value={value} path={path} />
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  if (entries.length === 0) return <span class="json-empty">{isList ? '[]' : '{}'}</span>
  return (
    <details class="json" open={depth < OPEN}>
      <summary>
        {isList ? 'list of ' : ''}
        {entries.length}
        {isList ? '' : entries.length === 1 ? ' field' : ' fields'}
      </summary>
      <ul>
        {entries.map(([name, each]) => (
          <li key={name}>
            <span class="json-name">{name}</span>
            <Json value={each} path={path === '' ? name : `${path}.${name}`} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function Leaf({ value, path }: { readonly value: unknown; readonly path: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const decimal = decimalOf(value)
  return (
    <button
      type="button"
      class={`json-leaf json-${value === null ? 'null' : typeof value}`}
      title={`Copy ${path}`}
      onClick={() => void copy(text, path || 'the value')}
    >
      {text === '' ? '""' : text}
      {decimal !== undefined && <span class="json-decimal"> = {decimal}</span>}
    </button>
  )
}

/** A quantity in hex as a decimal number; longer hex is bytes. */
function decimalOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,32}$/i.test(value)) return undefined
  return BigInt(value).toString()
}
