import { existsSync } from 'node:fs'
import { mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

function draftName(target: string): string {
  return `${basename(target)}.draft-`
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 })
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Drafts of processes that were killed. A process that still fills one is late and uses `target` then. */
async function removeDrafts(target: string): Promise<void> {
  const parent = dirname(target)
  for (const name of await readdir(parent)) {
    // One that its owner is still writing to may resist; the next start tries again.
    if (name.startsWith(draftName(target))) await removeFolder(join(parent, name)).catch(() => {})
  }
}

/**
 * Makes the folder `target` whole or not at all, whenever we are killed: it is filled under another
 * name in the same folder and then renamed. Of several processes that try at once one wins, and the others
 * find its folder.
 */
export async function createFolderOnce(
  target: string,
  fill: (draft: string) => Promise<void>,
): Promise<void> {
  if (!existsSync(target)) {
    const parent = dirname(target)
    const draft = await mkdtemp(join(parent, draftName(target)))
    try {
      await fill(draft)
      await rename(draft, target)
      await syncFolder(parent)
    } catch (error) {
      if (existsSync(target)) return
      await removeFolder(draft)
      throw error
    }
  }
  await removeDrafts(target)
}
