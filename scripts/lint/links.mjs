#!/usr/bin/env node
// Fails on a link of a page whose file or heading does not exist, and on pages that code names and that do not exist.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const tracked = (...patterns) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns])
    .toString()
    .trim()
    .split('\n')
    .filter(existsSync)

/** As GitHub makes them: lower case, no punctuation, blanks as hyphens. */
function anchorsOf(page) {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

let found = 0
const complain = (file, line, text) => {
  console.error(`${file}:${line}: ${text}`)
  found++
}
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').entries()

for (const page of tracked('*.md'))
  for (const [index, line] of linesOf(page))
    for (const [, target] of line.matchAll(/(?:\]\(|src="|srcset=")([^)\s"]+)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [path, anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      if (!existsSync(file)) complain(page, index + 1, `${target} does not exist`)
      else if (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor))
        complain(page, index + 1, `${file} has no heading for #${anchor}`)
    }

for (const file of tracked('src', 'console/src', 'scripts', 'test', 'deploy'))
  if (/\.(ts|tsx|mjs|sql|ya?ml|json|service)$/.test(file))
    for (const [index, line] of linesOf(file))
      for (const [, path, anchor] of line.matchAll(
        /(?<![\w/.-])(docs\/(?:\w+\/)?\w+\.md)(?:#([\w-]+))?/g,
      ))
        if (!existsSync(path)) complain(file, index + 1, `${path} does not exist`)
        else if (anchor !== undefined && !anchorsOf(path).has(anchor))
          complain(file, index + 1, `${path} has no heading for #${anchor}`)

if (found > 0) process.exit(1)
