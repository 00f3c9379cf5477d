import { signal } from '@preact/signals'
import { accountId, call, onSessionEnded, Trouble } from './call.js'
import { forgetAnswers } from './query.js'
import type { Account, Credentials, Page, SessionAnswer } from './shapes.js'

/** The user who is signed in; null = nobody; undefined = not known yet. */
export const session = signal<SessionAnswer | null | undefined>(undefined)

const SHOWN = 'purser.credentials'
/** The key and the token of a development setup, in this tab, until it closes or the user signs out. */
export const credentials = signal<Credentials | undefined>(readCredentials())

const ACCOUNT = 'purser.account'

function readCredentials(): Credentials | undefined {
  const text = sessionStorage.getItem(SHOWN)
  return text === null ? undefined : (JSON.parse(text) as Credentials)
}

/** Asks who is signed in. Throws Trouble when the service does not say. */
export async function loadSession(): Promise<void> {
  try {
    const answer = await call<SessionAnswer>('GET', '/session')
    const last = localStorage.getItem(ACCOUNT)
    const { memberships, user } = answer
    const place = memberships.find((each) => each.accountId === last)
    const entered = place === undefined && user.isOperator ? await liveAccount(last) : undefined
    accountId.value = place?.accountId ?? entered ?? memberships[0]?.accountId
    session.value = answer
  } catch (error) {
    if (!(error instanceof Trouble) || error.status !== 401) throw error
    session.value = null
  }
}

/** The account that an operator entered last, while it lives. */
async function liveAccount(id: string | null): Promise<string | undefined> {
  if (id === null) return undefined
  const { items } = await call<Page<Account>>('GET', '/accounts')
  return items.find((each) => each.id === id && each.revokedAt === null)?.id
}

export async function signIn(email: string, password: string): Promise<void> {
  await call('POST', '/session', { body: { email, password } })
  forgetAnswers()
  await loadSession()
}

/** Signs in by the token of a link, once. */
export async function signInByLink(token: string): Promise<void> {
  const answer = await call<{ credentials: Credentials }>('POST', '/session/link', {
    body: { token },
  })
  sessionStorage.setItem(SHOWN, JSON.stringify(answer.credentials))
  credentials.value = answer.credentials
  forgetAnswers()
  await loadSession()
}

/** Accepts an invitation with a password, and signs in. */
export async function acceptInvitation(token: string, password: string): Promise<void> {
  const user = await call<{ email: string }>('POST', '/invitations/accept', {
    body: { token, password },
  })
  await signIn(user.email, password)
}

/** Accepts an invitation to an account as the user who is signed in. */
export async function joinByInvitation(token: string): Promise<void> {
  await call('POST', '/session/invitation', { body: { token } })
  forgetAnswers()
  await loadSession()
}

export async function signOut(): Promise<void> {
  await call('DELETE', '/session')
  forget()
}

export function chooseAccount(id: string): void {
  localStorage.setItem(ACCOUNT, id)
  forgetAnswers()
  accountId.value = id
}

function forget(): void {
  sessionStorage.removeItem(SHOWN)
  credentials.value = undefined
  forgetAnswers()
  session.value = null
}

onSessionEnded.value = forget
