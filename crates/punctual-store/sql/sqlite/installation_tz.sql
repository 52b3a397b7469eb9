SELECT tz FROM installation
