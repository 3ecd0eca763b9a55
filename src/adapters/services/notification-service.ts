import type { Notification, NotificationService } from '../../ports/services.ts';
import type { HttpService } from './http.ts';

export class HttpNotificationService implements NotificationService {
  private readonly http: HttpService;

  constructor(http: HttpService) {
    this.http = http;
  }

  async send({ userId, template, data, dedupeKey }: Notification): Promise<void> {
    const body = { user_id: userId, template, data, dedupe_key: dedupeKey };
    const { status } = await this.http.send('POST', '/notifications', { body }).catch((error: unknown) => {
      throw this.http.down('does not answer', error);
    });
    if (status !== 202) throw this.http.down(`answers ${status} to a notification`);
  }
}
