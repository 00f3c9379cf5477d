import { readdirSync, readFileSync } from 'node:fs'
import { ways } from './ways.js'

/** What the walk does with a block, as `ways.ts` says. */
export type Way =
  | { readonly kind: 'run' }
  /** Runs on in a terminal of its own, in place of the one that had the name before. */
  | { readonly kind: 'terminal'; readonly name: string }
  | { readonly kind: 'file'; readonly name: string }
  /** Run where that program is installed, else left out. */
  | { readonly kind: 'needs'; readonly program: string }
  /** Not run, for `reason`, but valid for one of our schemas. */
  | { readonly kind: 'schema'; readonly name: string; readonly reason: string }
  /** Not run, for `reason`; its commands and flags exist. */
  | { readonly kind: 'no'; readonly reason: string }

export type Block = {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  readonly way: Way
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort()
}

const readers = ['start', 'build', 'operate', 'understand', 'contribute']

/** In the order of the walk: the quick start prepares what the others go on with. */
export const pages: readonly string[] = [
  ...pagesIn('docs/start'),
  'README.md',
  'CONTRIBUTING.md',
  'docs/index.md',
  ...readers.slice(1).flatMap((reader) => pagesIn(`docs/${reader}`)),
]

/** @throws Error when a text is none of the forms */
function wayOf(text: string | undefined): Way {
  if (text === undefined) return { kind: 'run' }
  const [head = '', reason = ''] = text.split(/,\s*(.*)/s)
  const [kind, name = ''] = head.split(' ')
  if (kind === 'terminal' || kind === 'file') return { kind, name }
  if (kind === 'needs') return { kind, program: name }
  if (kind === 'schema' && reason !== '') return { kind, name, reason }
  if (kind === 'no' && reason !== '') return { kind: 'no', reason }
  throw new Error(`"${text}" says neither how to run the block nor why not.`)
}

const fence = /^( *)```([a-z]*)[^\n]*\n([\s\S]*?)^ *```$/gm

export function blocksOf(page: string): readonly Block[] {
  const markdown = readFileSync(page, 'utf8')
  const known = Object.entries(ways[page] ?? {})
  return [...markdown.matchAll(fence)].map((match) => {
    const [, indent = '', language = '', block = ''] = match
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return {
      page,
      line: markdown.slice(0, match.index).split('\n').length,
      language,
      text,
      way: wayOf(known.find(([part]) => text.includes(part))?.[1]),
    }
  })
}
