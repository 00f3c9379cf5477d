import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFolderOnce } from './createFolderOnce.js'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'purser-folder-'))
})
afterEach(() => rmSync(parent, { recursive: true }))

test('a folder that could not be filled is not there, and leaves nothing', async () => {
  const target = join(parent, 'made')
  const failing = createFolderOnce(target, async (draft) => {
    await writeFile(join(draft, 'half'), '')
    throw new Error('disk full')
  })
  await expect(failing).rejects.toThrow('disk full')
  expect(readdirSync(parent)).toEqual([])
})

test('is filled by one of several that try at once', async () => {
  const target = join(parent, 'made')
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(
    names.map((name) => createFolderOnce(target, (draft) => writeFile(join(draft, 'owner'), name))),
  )
  expect(names).toContain(readFileSync(join(target, 'owner'), 'utf8'))
  await createFolderOnce(target, async () => expect.unreachable('it is there already'))
  expect(readdirSync(parent)).toEqual(['made'])
})

test('the draft of a killed process is removed', async () => {
  const target = join(parent, 'made')
  await mkdir(join(parent, 'made.draft-dead', 'deep'), { recursive: true })
  await mkdir(join(parent, 'made.else'))
  await createFolderOnce(target, async (draft) => expect(existsSync(draft)).toBe(true))
  expect(readdirSync(parent).sort()).toEqual(['made', 'made.else'])
})
