import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const hardhat = createRequire(import.meta.url).resolve('hardhat/package.json')

/**
 * `@nomicfoundation/hardhat-zod-utils` wants Hardhat's zod (3) as its peer and finds ours (4) next to itself: npm nests
 * Hardhat's own. It gets that one.
 */
export function resolve(specifier, context, next) {
  const isPeer = specifier === 'zod' && context.parentURL?.includes('/hardhat-zod-utils/')
  return next(specifier, isPeer ? { ...context, parentURL: pathToFileURL(hardhat).href } : context)
}
