import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

type Step = { readonly uses?: string; readonly run?: string }
type Job = { readonly steps: readonly Step[]; readonly 'timeout-minutes'?: number }
type Workflow = {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = '.github/workflows'
const files = readdirSync(FOLDER)
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}
const hasActionlint = spawnSync('actionlint', ['-version']).status === 0

/** What a step may run: scripts of ours, and what puts their results where they belong. */
const allowed =
  /^(bash \.ci\/run|npm ci|npm run [\w:-]+( -- .*)?|npm run "\$\{\{ matrix\.suite \}\}"|gh release create .*)$/

describe.each(files)('the workflow %s', (file) => {
  const workflow = parse(readFileSync(join(FOLDER, file), 'utf8')) as Workflow
  const jobs = Object.values(workflow.jobs)

  test('calls only scripts that are there', () => {
    for (const { run } of jobs.flatMap(({ steps }) => steps)) {
      if (run === undefined) continue
      expect(run.trim()).toMatch(allowed)
      const [, name] = /^npm run ([\w:-]+)/.exec(run) ?? []
      if (name !== undefined) expect(Object.keys(scripts)).toContain(name)
    }
    const suites = readFileSync(join(FOLDER, file), 'utf8').match(/'(test:\w+)'/g) ?? []
    for (const suite of suites) expect(Object.keys(scripts)).toContain(suite.slice(1, -1))
  })

  test('names the actions of others by commit: a tag can be moved', () => {
    for (const { uses } of jobs.flatMap(({ steps }) => steps))
      if (uses !== undefined) expect(uses).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
  })

  test('may do nothing by default but read, and ends', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const job of jobs) expect(job['timeout-minutes']).toBeGreaterThan(0)
  })
})

test.skipIf(!hasActionlint)('actionlint finds nothing (skipped where it is not installed)', () => {
  expect(execFileSync('actionlint', ['-no-color'], { encoding: 'utf8' })).toBe('')
})

test('dependabot looks at every folder with a lock', () => {
  const locks = execFileSync('git', ['ls-files', '*package-lock.json'], { encoding: 'utf8' })
  const folders = locks
    .trim()
    .split('\n')
    .map((path) => `/${path.replace(/\/?package-lock\.json$/, '')}`)
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as {
    updates: { 'package-ecosystem': string; directories?: string[] }[]
  }
  const npm = updates.find((each) => each['package-ecosystem'] === 'npm')
  expect(npm?.directories).toEqual(expect.arrayContaining(folders))
})
