import { openRpc } from './openRpc.js'

/** The OpenRPC documents, made once a process. */
export const documents = { classic: openRpc('classic'), standard: openRpc('standard') } as const

/** The same in bytes: whoever asks for them by GET needs no key, so an answer must cost nothing. */
export const documentFiles = {
  classic: Buffer.from(JSON.stringify(documents.classic)),
  standard: Buffer.from(JSON.stringify(documents.standard)),
} as const
